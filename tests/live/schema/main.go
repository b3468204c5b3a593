// Prints what the Go types of the built-in kinds know and OpenAPI does not: which fields are pointers (so that a zero
// value differs from an absent one), and which strings are quantities, times and bytes. One JSON object by type name.
package main

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

type field struct {
	Code     string `json:"code"`
	Strategy string `json:"strategy,omitempty"`
	MergeKey string `json:"mergeKey,omitempty"`
}

var scalars = map[reflect.Type]string{
	reflect.TypeOf(resource.Quantity{}):    "q",
	reflect.TypeOf(intstr.IntOrString{}):   "x",
	reflect.TypeOf(meta.Time{}):            "t",
	reflect.TypeOf(meta.MicroTime{}):       "t",
	reflect.TypeOf(meta.Duration{}):        "s",
	reflect.TypeOf(runtime.RawExtension{}): "?",
	reflect.TypeOf(meta.FieldsV1{}):        "?",
	reflect.TypeOf(apiextensions.JSON{}):   "?",
}

var types = map[string]map[string]field{}

func name(t reflect.Type) string {
	path := strings.Replace(t.PkgPath(), "k8s.io/", "io/k8s/", 1)
	return strings.ReplaceAll(path, "/", ".") + "." + t.Name()
}

// code writes a type: letters for scalars, `*` pointer, `[x]` list, `{x}` map, `:Name` struct.
func code(t reflect.Type) string {
	if letter, ok := scalars[t]; ok {
		return letter
	}
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + code(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "y"
		}
		return "[" + code(t.Elem()) + "]"
	case reflect.Map:
		return "{" + code(t.Elem()) + "}"
	case reflect.Struct:
		if strings.HasPrefix(t.Name(), "JSONSchemaPropsOr") {
			return "?"
		}
		walk(t)
		return ":" + name(t)
	case reflect.String:
		return "s"
	case reflect.Bool:
		return "b"
	case reflect.Float32, reflect.Float64:
		return "f"
	case reflect.Interface:
		return "?"
	default:
		return "i"
	}
}

func walk(t reflect.Type) {
	if _, done := types[name(t)]; done {
		return
	}
	types[name(t)] = map[string]field{}
	collect(t, types[name(t)])
}

func collect(t reflect.Type, fields map[string]field) {
	for i := 0; i < t.NumField(); i++ {
		f := t.Field(i)
		tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && (tag == "" || strings.Contains(options, "inline")) {
			if f.Type.Kind() == reflect.Struct {
				collect(f.Type, fields)
			}
			continue
		}
		if tag == "" || tag == "-" {
			continue
		}
		fields[tag] = field{code(f.Type), f.Tag.Get("patchStrategy"), f.Tag.Get("patchMergeKey")}
	}
}

func main() {
	registry := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		scheme.AddToScheme, apiextensions.AddToScheme, apiregistration.AddToScheme,
	} {
		if err := add(registry); err != nil {
			panic(err)
		}
	}
	for _, t := range registry.AllKnownTypes() {
		walk(t)
	}
	if err := json.NewEncoder(os.Stdout).Encode(types); err != nil {
		panic(err)
	}
}
