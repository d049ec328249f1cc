// specs: the sig-scheduling part of the Kubernetes end-to-end suite, as a program.
//
//	specs --kubeconfig=FILE --provider=skeleton [--ginkgo.focus=TEXT] [--results=FILE]
//
// It has the flags of the original. Results are JSON lines: name, state, seconds, message.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"k8s.io/kubernetes/test/e2e/framework"
	"k8s.io/kubernetes/test/e2e/framework/config"
	_ "k8s.io/kubernetes/test/e2e/framework/debug/init"
	_ "k8s.io/kubernetes/test/e2e/framework/node/init"
	_ "k8s.io/kubernetes/test/e2e/scheduling"
)

type result struct {
	Name    string  `json:"name"`
	State   string  `json:"state"` // passed, failed, skipped, …
	Seconds float64 `json:"seconds"`
	Message string  `json:"message,omitempty"`
}

// verdict is what ginkgo asks for in place of a *testing.T.
type verdict struct{ failed bool }

func (v *verdict) Fail() { v.failed = true }

func reportTo(file string) error {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	ginkgo.ReportAfterEach(func(r ginkgo.SpecReport) {
		line, err := json.Marshal(result{r.FullText(), r.State.String(), time.Since(r.StartTime).Seconds(), r.FailureMessage()})
		if err == nil {
			_, err = out.Write(append(line, '\n'))
		}
		framework.ExpectNoError(err)
	})
	return nil
}

func main() {
	results := flag.String("results", "/dev/null", "a file for what became of each spec")
	config.CopyFlags(config.Flags, flag.CommandLine)
	framework.RegisterCommonFlags(flag.CommandLine)
	framework.RegisterClusterFlags(flag.CommandLine)
	flag.Parse()
	framework.AfterReadingAllFlags(&framework.TestContext) // tries all specs dry: no report of that
	if err := reportTo(*results); err != nil {
		fmt.Fprintln(os.Stderr, "specs:", err)
		os.Exit(2)
	}

	gomega.RegisterFailHandler(framework.Fail)
	suite, reporter := ginkgo.GinkgoConfiguration()
	v := &verdict{}
	ginkgo.RunSpecs(v, "sig-scheduling", suite, reporter)
	if v.failed {
		os.Exit(1)
	}
}
