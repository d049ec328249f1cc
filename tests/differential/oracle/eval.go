package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sort"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	"k8s.io/kubernetes/pkg/scheduler/util"
)

// Score is one plugin's opinion of one node.
type Score struct {
	Raw        int64 `json:"raw"`
	Normalized int64 `json:"normalized"`
	Weighted   int64 `json:"weighted"`
}

// NodeResult is the verdict on one node.
type NodeResult struct {
	Name       string           `json:"name"`
	Feasible   bool             `json:"feasible"`
	RejectedBy *string          `json:"rejectedBy"`
	Code       string           `json:"code"` // Success | Unschedulable | UnschedulableAndUnresolvable
	Reasons    []string         `json:"reasons"`
	Scores     map[string]Score `json:"scores"`
	Total      int64            `json:"total"`
}

// Preemption is what DefaultPreemption would do.
type Preemption struct {
	NominatedNode string              `json:"nominatedNode"`
	Victims       []string            `json:"victims"`
	PDBViolations int64               `json:"pdbViolations"`
	Ties          []string            `json:"ties"`       // every node which compares equal to the nominated one (kube-scheduler picks any of them)
	Candidates    map[string][]string `json:"candidates"` // node -> victims, for every node where preemption would help
	Message       string              `json:"message"`
}

// Result is one case.
type Result struct {
	Pod           string       `json:"pod"`
	Profile       string       `json:"profile"`
	Nodes         []NodeResult `json:"nodes"`
	Summary       string       `json:"summary"`       // the FailedScheduling text (with the preemption sentence); "" when feasible
	FilterSummary string       `json:"filterSummary"` // the same without the preemption sentence
	WouldChoose   []string     `json:"wouldChoose"`
	Preemption    *Preemption  `json:"preemption,omitempty"`
	Gated         string       `json:"gated,omitempty"` // the PreEnqueue plugin which keeps the pod out of the queue
	Error         string       `json:"error,omitempty"` // a scheduler error: neither fits nor rejected
}

const profileName = corev1.DefaultSchedulerName

// weights of the default profile, read from the configuration rather than repeated here.
func weights(f framework.Framework) map[string]int64 {
	w := map[string]int64{}
	for _, p := range f.ListPlugins().Score.Enabled {
		w[p.Name] = int64(p.Weight)
	}
	return w
}

func victimNames(pods []*corev1.Pod) []string {
	out := []string{}
	for _, p := range pods {
		out = append(out, p.Namespace+"/"+p.Name)
	}
	sort.Strings(out)
	return out
}

// Evaluate builds a scheduler over the objects and asks it about one pod.
func Evaluate(objs []runtime.Object, key string) (res *Result, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	ns, name, ok := strings.Cut(key, "/")
	if !ok {
		ns, name = "default", key
	}
	key = ns + "/" + name

	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), klog.TODO()))
	defer cancel()

	var target *corev1.Pod
	var kept []runtime.Object
	for _, o := range objs {
		if p, ok := o.(*corev1.Pod); ok {
			if p.Namespace == ns && p.Name == name {
				p = p.DeepCopy() // what is asked is where it would go, even if it runs already
				p.Spec.NodeName = ""
				if p.Status.Phase == corev1.PodRunning {
					p.Status.Phase = corev1.PodPending
				}
				if p.Spec.SchedulerName == "" {
					p.Spec.SchedulerName = profileName
				}
				target, o = p, p
			}
			// kube-scheduler's pod informer has the field selector status.phase!=Succeeded,status.phase!=Failed
			// (scheduler.NewInformerFactory), which a fake client does not apply.
			if p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
				continue
			}
		}
		kept = append(kept, o)
	}
	if target == nil {
		return nil, fmt.Errorf("no pod %s in the manifests", key)
	}
	if target.Spec.SchedulerName != profileName { // judge it with the default profile all the same
		target.Spec.SchedulerName = profileName
	}

	client := fake.NewSimpleClientset(kept...)
	informers := scheduler.NewInformerFactory(client, 0, nil)
	snapshot := internalcache.NewEmptySnapshot()
	pct := int32(100)
	recorder := func(string) events.EventRecorderLogger { return &events.FakeRecorder{} }
	sched, err := scheduler.New(ctx, client, informers, nil, recorder,
		scheduler.WithPercentageOfNodesToScore(&pct), scheduler.WithNodeInfoSnapshot(snapshot), scheduler.WithParallelism(1)) // of several errors, the first node's
	if err != nil {
		return nil, err
	}
	// The namespace informer is asked for by a plugin, the others by the scheduler; start them all.
	informers.Start(ctx.Done())
	for {
		synced := true
		for _, ok := range informers.WaitForCacheSync(closed) {
			synced = synced && ok
		}
		if synced {
			break
		}
		time.Sleep(500 * time.Microsecond)
	}
	if err := sched.WaitForHandlersSync(ctx); err != nil {
		return nil, err
	}
	logger := klog.FromContext(ctx)
	if err := sched.Cache.UpdateSnapshot(logger, snapshot); err != nil {
		return nil, err
	}
	f := sched.Profiles[profileName]
	pod, err := informers.Core().V1().Pods().Lister().Pods(ns).Get(name)
	if err != nil {
		return nil, err
	}

	// Adding up what a pod asks for can change the pod (a quantity shares its digits with the sum): what asks again gets a copy.
	fresh := pod.DeepCopy()

	res = &Result{Pod: key, Profile: profileName, Nodes: []NodeResult{}, WouldChoose: []string{}}
	infos, err := snapshot.NodeInfos().List()
	if err != nil {
		return nil, err
	}
	infos = append([]fwk.NodeInfo(nil), infos...)
	sort.Slice(infos, func(i, j int) bool { return infos[i].Node().Name < infos[j].Node().Name })

	for _, pl := range f.PreEnqueuePlugins() {
		if s := pl.PreEnqueue(ctx, pod); !s.IsSuccess() {
			res.Gated, res.Summary, res.FilterSummary = pl.Name(), s.Message(), s.Message()
			for _, n := range infos {
				g := pl.Name()
				res.Nodes = append(res.Nodes, NodeResult{Name: n.Node().Name, RejectedBy: &g, Code: s.Code().String(), Reasons: s.Reasons(), Scores: map[string]Score{}})
			}
			return res, nil
		}
	}
	if len(infos) == 0 {
		res.Summary = scheduler.ErrNoNodesAvailable.Error()
		res.FilterSummary = res.Summary
		return res, nil
	}

	// Filter: the steps of findNodesThatFitPod, node by node and without an early end.
	state := framework.NewCycleState()
	diag := framework.Diagnosis{NodeToStatus: framework.NewDefaultNodeToStatus()}
	var feasible []fwk.NodeInfo
	pre, s, restricting := f.RunPreFilterPlugins(ctx, state, pod)
	by := func(s *fwk.Status, rejecters sets.Set[string]) *string {
		p := s.Plugin()
		if p == "" && len(rejecters) > 0 {
			p = strings.Join(sets.List(rejecters), ",")
		}
		if p == "" {
			return nil
		}
		return &p
	}
	switch {
	case !s.IsSuccess() && !s.IsRejected():
		res.Error = s.AsError().Error()
		return res, nil
	case !s.IsSuccess():
		diag.NodeToStatus.SetAbsentNodesStatus(s)
		diag.PreFilterMsg = s.Message()
		for _, n := range infos {
			res.Nodes = append(res.Nodes, NodeResult{Name: n.Node().Name, RejectedBy: by(s, restricting), Code: s.Code().String(), Reasons: s.Reasons(), Scores: map[string]Score{}})
		}
	default:
		absent := fwk.NewStatus(fwk.UnschedulableAndUnresolvable, fmt.Sprintf("node(s) didn't satisfy plugin(s) %v", sets.List(restricting)))
		if !pre.AllNodes() {
			diag.NodeToStatus.SetAbsentNodesStatus(absent)
		}
		for _, n := range infos {
			nr := NodeResult{Name: n.Node().Name, Reasons: []string{}, Scores: map[string]Score{}}
			if !pre.AllNodes() && !pre.NodeNames.Has(n.Node().Name) {
				nr.RejectedBy, nr.Code, nr.Reasons = by(absent, restricting), absent.Code().String(), absent.Reasons()
			} else if s := f.RunFilterPluginsWithNominatedPods(ctx, state, pod, n); s.IsSuccess() {
				nr.Feasible, nr.Code = true, s.Code().String()
				feasible = append(feasible, n)
			} else if !s.IsRejected() {
				res.Error = s.AsError().Error()
				return res, nil
			} else {
				nr.RejectedBy, nr.Code, nr.Reasons = by(s, nil), s.Code().String(), s.Reasons()
				diag.NodeToStatus.Set(n.Node().Name, s)
			}
			res.Nodes = append(res.Nodes, nr)
		}
	}

	if len(feasible) == 0 {
		fit := &framework.FitError{Pod: pod, NumAllNodes: len(infos), Diagnosis: diag}
		res.FilterSummary = fit.Error()
		if err := selfCheck(ctx, sched, f, fresh.DeepCopy(), res, nil); err != nil {
			return nil, err
		}
		p, err := preempt(ctx, f, state, pod, fresh, &diag)
		if err != nil {
			return nil, err
		}
		res.Preemption = p
		fit.Diagnosis.PostFilterMsg = p.Message
		res.Summary = fit.Error()
		return res, nil
	}

	// Score.
	if s := f.RunPreScorePlugins(ctx, state, pod, feasible); !s.IsSuccess() {
		res.Error = s.AsError().Error()
		return res, nil
	}
	scores, s := f.RunScorePlugins(ctx, state, pod, feasible)
	if !s.IsSuccess() {
		res.Error = s.AsError().Error()
		return res, nil
	}
	w := weights(f)
	byNode := map[string]fwk.NodePluginScores{}
	best := int64(math.MinInt64)
	for _, n := range scores {
		byNode[n.Name] = n
		best = max(best, n.TotalScore)
	}
	for i := range res.Nodes {
		n := &res.Nodes[i]
		if !n.Feasible {
			continue
		}
		sc := byNode[n.Name]
		n.Total = sc.TotalScore
		for _, x := range sc.Scores {
			n.Scores[x.Name] = Score{Normalized: x.Score / w[x.Name], Weighted: x.Score}
		}
		for _, x := range sc.RawScores {
			v := n.Scores[x.Name]
			v.Raw = x.Score
			n.Scores[x.Name] = v
		}
		if n.Total == best {
			res.WouldChoose = append(res.WouldChoose, n.Name)
		}
	}
	// A nominated node which fits is taken without looking at the others.
	if nn := pod.Status.NominatedNodeName; nn != "" {
		for _, n := range res.Nodes {
			if n.Name == nn && n.Feasible {
				res.WouldChoose = []string{nn}
			}
		}
	}
	return res, selfCheck(ctx, sched, f, fresh.DeepCopy(), res, res.WouldChoose)
}

var closed = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// selfCheck asks the scheduler's own SchedulePod and insists on the same answer.
func selfCheck(ctx context.Context, sched *scheduler.Scheduler, f framework.Framework, pod *corev1.Pod, res *Result, choose []string) error {
	pi, _ := framework.NewPodInfo(pod)
	got, err := sched.SchedulePod(ctx, f, framework.NewCycleState(), &framework.QueuedPodInfo{PodInfo: pi})
	var fit *framework.FitError
	switch {
	case err == nil && sets.New(choose...).Has(got.SuggestedHost):
		return nil
	case errors.As(err, &fit) && len(choose) == 0 && fit.Error() == res.FilterSummary:
		return nil
	}
	return fmt.Errorf("self check: SchedulePod says %q, %v; here %v, %q", got.SuggestedHost, err, choose, res.FilterSummary)
}

// preempt runs the dry run over every candidate to know the ties, and then the real PostFilter for its message.
func preempt(ctx context.Context, f framework.Framework, state fwk.CycleState, pod, fresh *corev1.Pod, diag *framework.Diagnosis) (*Preemption, error) {
	out := &Preemption{Victims: []string{}, Ties: []string{}, Candidates: map[string][]string{}}
	args := &config.DefaultPreemptionArgs{MinCandidateNodesPercentage: 10, MinCandidateNodesAbsolute: 100}
	pl, err := defaultpreemption.New(ctx, args, f, feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate))
	if err != nil {
		return nil, err
	}
	var cands []preemption.Candidate
	if ok, _ := pl.PodEligibleToPreemptOthers(ctx, pod, diag.NodeToStatus.Get(pod.Status.NominatedNodeName)); ok {
		nodes, err := diag.NodeToStatus.NodesForStatusCode(f.SnapshotSharedLister().NodeInfos(), fwk.Unschedulable)
		if err != nil {
			return nil, err
		}
		if len(nodes) > 0 {
			pdbs, err := f.SharedInformerFactory().Policy().V1().PodDisruptionBudgets().Lister().List(labels.Everything())
			if err != nil {
				return nil, err
			}
			sort.Slice(pdbs, func(i, j int) bool { return pdbKey(pdbs[i]) < pdbKey(pdbs[j]) })
			// On a state of its own: plugins remember there what Filter says, and the real PostFilter must not know it yet.
			trial := framework.NewCycleState()
			f.RunPreFilterPlugins(ctx, trial, fresh)
			// If it fails, so does the real PostFilter below, which says how.
			cands, _, _ = pl.Evaluator.DryRunPreemption(ctx, trial, pod, nodes, pdbs, 0, int32(len(nodes)))
		}
	}
	var best []int64
	for _, c := range cands {
		v := c.Victims()
		out.Candidates[c.Name()] = victimNames(v.Pods)
		sum := int64(0)
		for _, p := range v.Pods {
			sum += int64(corev1helpers.PodPriority(p)) + int64(math.MaxInt32+1)
		}
		start := int64(math.MinInt64)
		if t := util.GetEarliestPodStartTime(v); t != nil {
			start = t.UnixNano()
		}
		rank := []int64{-v.NumPDBViolations, -int64(corev1helpers.PodPriority(v.Pods[0])), -sum, -int64(len(v.Pods)), start}
		switch less := compare(rank, best); {
		case best == nil || less > 0:
			best, out.Ties = rank, []string{c.Name()}
		case less == 0:
			out.Ties = append(out.Ties, c.Name())
		}
	}
	sort.Strings(out.Ties)

	r, s := f.RunPostFilterPlugins(ctx, state, pod, diag.NodeToStatus)
	out.Message = s.Message()
	chosen := ""
	if r != nil && r.NominatingInfo != nil {
		chosen = r.NominatedNodeName
	}
	if s.Code() == fwk.Error {
		// The scheduler logs it, and appends it to the event all the same. A PreFilter plugin which ends the cycle
		// before DynamicResources leaves that plugin without state, and its PostFilter fails with "not found".
		return &Preemption{Victims: []string{}, Ties: []string{}, Candidates: map[string][]string{}, Message: out.Message}, nil
	}
	if _, ok := out.Candidates[chosen]; (chosen == "") != (len(out.Ties) == 0) || (chosen != "" && !ok) {
		return nil, fmt.Errorf("self check: PostFilter nominates %q, the dry run %v (%s)", chosen, out.Ties, out.Message)
	}
	if chosen != "" && !sets.New(out.Ties...).Has(chosen) { // victims without a start time count as started just now
		out.Ties = append(out.Ties, chosen)
		sort.Strings(out.Ties)
	}
	if chosen != "" {
		out.NominatedNode = out.Ties[0]
		out.Victims = out.Candidates[out.NominatedNode]
		out.PDBViolations = -best[0]
		out.Message = strings.Replace(out.Message, "on node "+chosen+",", "on node "+out.NominatedNode+",", 1)
	}
	return out, nil
}

func pdbKey(p *policyv1.PodDisruptionBudget) string { return p.Namespace + "/" + p.Name }

func compare(a, b []int64) int {
	for i := range b {
		if a[i] != b[i] {
			if a[i] > b[i] {
				return 1
			}
			return -1
		}
	}
	return 0
}

func quietLogs() {
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
}
