"""Kinds of objects as people write them: kubectl's short names, plurals, and with the API group behind."""

_SHORT = {
    "cm": "configmap", "cj": "cronjob", "deploy": "deployment", "ds": "daemonset", "ep": "endpoints",
    "hpa": "horizontalpodautoscaler", "ing": "ingress", "netpol": "networkpolicy", "no": "node", "ns": "namespace",
    "pdb": "poddisruptionbudget", "po": "pod", "pv": "persistentvolume", "pvc": "persistentvolumeclaim",
    "rs": "replicaset", "sa": "serviceaccount", "sts": "statefulset", "svc": "service", "app": "application",
}  # fmt: skip
"""kubectl's short names."""


def spellings(written: str) -> tuple[str, ...]:
    """The kinds, in lower case, that a person may mean: `deploy`, `deployments` and `Deployments.apps` are one."""
    kind = written.lower().split(".")[0]
    if kind in _SHORT:
        return (_SHORT[kind],)
    singular = [kind.removesuffix("s"), kind.removesuffix("es"), *([f"{kind[:-3]}y"] if kind.endswith("ies") else [])]
    return tuple(sorted({kind, *singular}))
