// oracle: what kube-scheduler's default profile says about a pod, from manifests, in process.
//
//	oracle explain -f FILE [-f FILE…] [-pod NS/NAME] [-admit]     verdicts, scores and the choice, as JSON
//	oracle preempt -f FILE [-f FILE…] [-pod NS/NAME] [-admit]     what preemption would do, as JSON
//	oracle batch [-j 1] [-o OUT] DIR|FILE…                        one JSON line per case file, with "file" added
//	oracle serve [-j 1]                                            a JSON line {"pod", "manifest", "validate"} in, a line with the answer out
//	oracle profile                                                 the default profile: plugins per extension point, weights
//
// A case file names its pod in a first line "# target: NS/NAME"; -pod overrides it. Manifests are read as objects
// a live API server would return (API defaults are filled in; -admit also does what admission would do to new pods).
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"

	"oracle/live"
)

type list []string

func (l *list) String() string     { return strings.Join(*l, ",") }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

func die(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(2)
	}
}

func evalFiles(files []string, pod string, admit bool) (*Result, error) {
	objs, target, err := live.Load(files...)
	if err != nil {
		return nil, err
	}
	if pod == "" {
		pod = target
	}
	if pod == "" {
		return nil, fmt.Errorf("which pod? (-pod NS/NAME)")
	}
	if admit {
		if err := live.Admit(objs); err != nil {
			return nil, err
		}
	}
	return Evaluate(objs, pod)
}

func caseFiles(args []string) []string {
	var out []string
	for _, a := range args {
		if st, err := os.Stat(a); err == nil && st.IsDir() {
			m, _ := filepath.Glob(filepath.Join(a, "*.yaml"))
			out = append(out, m...)
		} else {
			out = append(out, a)
		}
	}
	sort.Strings(out)
	return out
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: oracle explain|preempt|batch|serve|profile …")
		os.Exit(2)
	}
	quietLogs()
	cmd, args := os.Args[1], os.Args[2:]
	fs := flag.NewFlagSet(cmd, flag.ExitOnError)
	var files list
	fs.Var(&files, "f", "manifest file, - for stdin (may be repeated)")
	pod := fs.String("pod", "", "NS/NAME of the pod")
	admit := fs.Bool("admit", false, "do to the pods what admission would do")
	jobs := fs.Int("j", 1, "cases at once (batch, serve)")
	out := fs.String("o", "", "output file (batch)")
	die(fs.Parse(args))
	pretty := json.NewEncoder(os.Stdout)
	pretty.SetIndent("", "  ")
	pretty.SetEscapeHTML(false)
	switch cmd {
	case "explain":
		r, err := evalFiles(append(files, fs.Args()...), *pod, *admit)
		die(err)
		die(pretty.Encode(r))
	case "preempt":
		r, err := evalFiles(append(files, fs.Args()...), *pod, *admit)
		die(err)
		if r.Preemption == nil {
			r.Preemption = &Preemption{Victims: []string{}, Ties: []string{}, Candidates: map[string][]string{}}
			if len(r.WouldChoose) > 0 {
				r.Preemption.Message = "not needed: the pod fits"
			}
		}
		die(pretty.Encode(r.Preemption))
	case "batch":
		die(batch(caseFiles(append(files, fs.Args()...)), *jobs, *out, *admit))
	case "serve":
		die(serve(os.Stdin, os.Stdout, *jobs))
	case "profile":
		die(profile(pretty))
	default:
		die(fmt.Errorf("no command %q", cmd))
	}
}

type line struct {
	File string `json:"file"`
	*Result
}

func batch(files []string, jobs int, out string, admit bool) error {
	w := os.Stdout
	if out != "" {
		f, err := os.Create(out)
		if err != nil {
			return err
		}
		defer f.Close()
		w = f
	}
	b := bufio.NewWriter(w)
	defer b.Flush()
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	results := make([]*Result, len(files))
	errs := make([]error, len(files))
	var wg sync.WaitGroup
	ch := make(chan int)
	for range jobs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range ch {
				results[i], errs[i] = evalFiles([]string{files[i]}, "", admit)
			}
		}()
	}
	for i := range files {
		ch <- i
	}
	close(ch)
	wg.Wait()
	bad := 0
	for i := range files {
		r := results[i]
		if errs[i] != nil {
			bad++
			fmt.Fprintf(os.Stderr, "oracle: %s: %v\n", files[i], errs[i])
			r = &Result{Nodes: []NodeResult{}, WouldChoose: []string{}, Error: errs[i].Error()}
		}
		if err := enc.Encode(line{filepath.Base(files[i]), r}); err != nil {
			return err
		}
	}
	if bad > 0 {
		b.Flush()
		return fmt.Errorf("%d of %d cases could not be evaluated", bad, len(files))
	}
	return nil
}
