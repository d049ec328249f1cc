// Package live turns manifests into the objects a scheduler would see behind a real API server:
// decoding, scheme defaulting, and (on request) the admission steps which change scheduling.
package live

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/apps"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	"k8s.io/kubernetes/pkg/apis/policy"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	"k8s.io/kubernetes/pkg/apis/resource"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	"k8s.io/kubernetes/pkg/apis/scheduling"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	"k8s.io/kubernetes/pkg/apis/storage"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	"k8s.io/kubernetes/pkg/registry/apps/replicaset"
	"k8s.io/kubernetes/pkg/registry/apps/statefulset"
	"k8s.io/kubernetes/pkg/registry/core/namespace"
	"k8s.io/kubernetes/pkg/registry/core/node"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolume"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolumeclaim"
	"k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/pkg/registry/core/replicationcontroller"
	"k8s.io/kubernetes/pkg/registry/policy/poddisruptionbudget"
	"k8s.io/kubernetes/pkg/registry/resource/deviceclass"
	"k8s.io/kubernetes/pkg/registry/resource/resourceslice"
	"k8s.io/kubernetes/pkg/registry/scheduling/priorityclass"
	"k8s.io/kubernetes/pkg/registry/storage/csidriver"
	"k8s.io/kubernetes/pkg/registry/storage/csinode"
	"k8s.io/kubernetes/pkg/registry/storage/csistoragecapacity"
	"k8s.io/kubernetes/pkg/registry/storage/storageclass"
)

// Load reads files ("-" is stdin) and returns their objects with API defaults applied.
// The second result is the target named by a "# target: NS/NAME" comment line, if any.
func Load(files ...string) ([]runtime.Object, string, error) {
	var objs []runtime.Object
	target := ""
	for _, f := range files {
		var data []byte
		var err error
		if f == "-" {
			data, err = io.ReadAll(os.Stdin)
		} else {
			data, err = os.ReadFile(f)
		}
		if err != nil {
			return nil, "", err
		}
		if t := Target(data); t != "" {
			target = t
		}
		o, err := Decode(data)
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", f, err)
		}
		objs = append(objs, o...)
	}
	return objs, target, nil
}

// Target finds a "# target: NS/NAME" comment.
func Target(data []byte) string {
	for _, l := range strings.SplitN(string(data[:min(len(data), 4096)]), "\n", 8) {
		if t, ok := strings.CutPrefix(l, "# target:"); ok {
			return strings.TrimSpace(t)
		}
	}
	return ""
}

// Decode reads YAML or JSON, several documents and Lists.
func Decode(data []byte) ([]runtime.Object, error) {
	var out []runtime.Object
	d := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 1<<16)
	for {
		var raw runtime.RawExtension
		if err := d.Decode(&raw); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, err
		}
		if b := bytes.TrimSpace(raw.Raw); len(b) == 0 || bytes.Equal(b, []byte("null")) {
			continue
		}
		objs, err := decodeOne(raw.Raw)
		if err != nil {
			return nil, err
		}
		out = append(out, objs...)
	}
}

func decodeOne(b []byte) ([]runtime.Object, error) {
	var head struct {
		metav1.TypeMeta `json:",inline"`
		Items           []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return nil, err
	}
	if strings.HasSuffix(head.Kind, "List") && head.Items != nil {
		var out []runtime.Object
		for _, i := range head.Items {
			var h metav1.TypeMeta
			_ = json.Unmarshal(i, &h)
			if h.Kind == "" { // "PodList" items carry no type
				var m map[string]any
				if err := json.Unmarshal(i, &m); err != nil {
					return nil, err
				}
				m["kind"], m["apiVersion"] = strings.TrimSuffix(head.Kind, "List"), head.APIVersion
				i, _ = json.Marshal(m)
			}
			o, err := decodeOne(i)
			if err != nil {
				return nil, err
			}
			out = append(out, o...)
		}
		return out, nil
	}
	obj, _, err := legacyscheme.Codecs.UniversalDeserializer().Decode(b, nil, nil)
	if runtime.IsNotRegisteredError(err) {
		fmt.Fprintf(os.Stderr, "oracle: ignoring %s %s\n", head.APIVersion, head.Kind)
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	legacyscheme.Scheme.Default(obj)
	Fill(obj)
	return []runtime.Object{obj}, nil
}

var namespaced = map[string]bool{"Pod": true, "Service": true, "ReplicaSet": true, "StatefulSet": true, "ReplicationController": true,
	"PersistentVolumeClaim": true, "PodDisruptionBudget": true, "ResourceClaim": true, "ResourceClaimTemplate": true,
	"CSIStorageCapacity": true, "Deployment": true, "Job": true, "DaemonSet": true}

func kindOf(obj runtime.Object) string {
	k, _, _ := legacyscheme.Scheme.ObjectKinds(obj)
	if len(k) == 0 {
		return ""
	}
	return k[0].Kind
}

// NameOf says which object it is: Kind NS/NAME.
func NameOf(obj runtime.Object) string {
	m, err := meta.Accessor(obj)
	if err != nil {
		return kindOf(obj)
	}
	return kindOf(obj) + " " + m.GetNamespace() + "/" + m.GetName()
}

// Fill gives an object what every stored object has: a namespace, a UID, a resource version, a phase.
func Fill(obj runtime.Object) {
	m, err := meta.Accessor(obj)
	if err != nil {
		return
	}
	kind := kindOf(obj)
	if namespaced[kind] && m.GetNamespace() == "" {
		m.SetNamespace("default")
	}
	if m.GetUID() == "" {
		h := sha256.Sum256([]byte(kind + "/" + m.GetNamespace() + "/" + m.GetName()))
		m.SetUID(types.UID(fmt.Sprintf("%x-%x-%x-%x-%x", h[:4], h[4:6], h[6:8], h[8:10], h[10:16])))
	}
	if m.GetResourceVersion() == "" {
		m.SetResourceVersion("1")
	}
	switch o := obj.(type) {
	case *corev1.Pod:
		if o.Status.Phase == "" {
			o.Status.Phase = corev1.PodPending
		}
	case *corev1.Namespace:
		if o.Labels["kubernetes.io/metadata.name"] == "" {
			if o.Labels == nil {
				o.Labels = map[string]string{}
			}
			o.Labels["kubernetes.io/metadata.name"] = o.Name
		}
	}
}

// Admit applies what admission and the registry strategies do to a pod at creation and which a scheduler
// can notice: priority from its class, the two default tolerations, (mis)matchLabelKeys merged into selectors,
// pod level resource defaults.
func Admit(objs []runtime.Object) error {
	classes := map[string]*schedulingv1.PriorityClass{
		"system-node-critical":    {Value: 2000001000},
		"system-cluster-critical": {Value: 2000000000},
	}
	var global *schedulingv1.PriorityClass
	for _, o := range objs {
		if pc, ok := o.(*schedulingv1.PriorityClass); ok {
			classes[pc.Name] = pc
			if pc.GlobalDefault {
				global = pc
			}
		}
	}
	for i, o := range objs {
		p, ok := o.(*corev1.Pod)
		if !ok {
			continue
		}
		pc := classes[p.Spec.PriorityClassName]
		if p.Spec.PriorityClassName == "" && p.Spec.Priority == nil && global != nil {
			pc, p.Spec.PriorityClassName = global, global.Name
		}
		if pc == nil && p.Spec.PriorityClassName != "" {
			return fmt.Errorf("pod %s/%s: no PriorityClass %s", p.Namespace, p.Name, p.Spec.PriorityClassName)
		}
		if pc != nil {
			v := pc.Value
			p.Spec.Priority = &v
			if p.Spec.PreemptionPolicy == nil && pc.PreemptionPolicy != nil {
				pp := *pc.PreemptionPolicy
				p.Spec.PreemptionPolicy = &pp
			}
		}
		if p.Spec.Priority == nil {
			p.Spec.Priority = new(int32)
		}
		if p.Spec.PreemptionPolicy == nil {
			pp := corev1.PreemptLowerPriority
			p.Spec.PreemptionPolicy = &pp
		}
		for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
			have := false
			for _, t := range p.Spec.Tolerations {
				if (t.Key == key || t.Key == "") && (t.Effect == corev1.TaintEffectNoExecute || t.Effect == "") {
					have = true
				}
			}
			if !have {
				sec := int64(300)
				p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &sec})
			}
		}
		var in core.Pod
		if err := legacyscheme.Scheme.Convert(p, &in, nil); err != nil {
			return err
		}
		pod.Strategy.PrepareForCreate(ctxFor(p.Namespace), &in)
		out := &corev1.Pod{}
		if err := legacyscheme.Scheme.Convert(&in, out, nil); err != nil {
			return err
		}
		out.Status = p.Status
		out.Status.QOSClass = corev1.PodQOSClass(in.Status.QOSClass)
		objs[i] = out
	}
	return nil
}

func ctxFor(ns string) context.Context {
	return request.WithNamespace(context.Background(), ns)
}

// Validate runs the API server's own creation checks; ok is false for kinds without one here.
func Validate(obj runtime.Object) (field.ErrorList, error) {
	in, err := legacyscheme.Scheme.ConvertToVersion(obj, runtime.InternalGroupVersioner)
	if err != nil {
		return nil, err
	}
	m, _ := meta.Accessor(in)
	m.SetResourceVersion("")
	ctx := ctxFor(m.GetNamespace())
	switch o := in.(type) {
	case *core.Pod:
		return pod.Strategy.Validate(ctx, o), nil
	case *core.Node:
		return node.Strategy.Validate(ctx, o), nil
	case *core.Namespace:
		return namespace.Strategy.Validate(ctx, o), nil
	case *core.PersistentVolume:
		return persistentvolume.Strategy.Validate(ctx, o), nil
	case *core.PersistentVolumeClaim:
		return persistentvolumeclaim.Strategy.Validate(ctx, o), nil
	case *core.ReplicationController:
		return replicationcontroller.Strategy.Validate(ctx, o), nil
	case *apps.StatefulSet:
		return statefulset.Strategy.Validate(ctx, o), nil
	case *apps.ReplicaSet:
		return replicaset.Strategy.Validate(ctx, o), nil
	case *policy.PodDisruptionBudget:
		return poddisruptionbudget.Strategy.Validate(ctx, o), nil
	case *scheduling.PriorityClass:
		return priorityclass.Strategy.Validate(ctx, o), nil
	case *storage.StorageClass:
		return storageclass.Strategy.Validate(ctx, o), nil
	case *storage.CSINode:
		return csinode.Strategy.Validate(ctx, o), nil
	case *storage.CSIDriver:
		return csidriver.Strategy.Validate(ctx, o), nil
	case *storage.CSIStorageCapacity:
		return csistoragecapacity.Strategy.Validate(ctx, o), nil
	case *resource.ResourceSlice:
		return resourceslice.Strategy.Validate(ctx, o), nil
	case *resource.DeviceClass:
		return deviceclass.Strategy.Validate(ctx, o), nil
	}
	return nil, nil
}
