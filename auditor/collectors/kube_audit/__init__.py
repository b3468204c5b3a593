"""Kubernetes audit logs, as platforms deliver them.

    source -> stream (unpacked, UTF-8) -> scan (records, framed by content) -> prefilter, wrappers and layers (events)
           -> gathering (facts and tallies) -> batches

Which events become facts, and with which bodies, is the table in `keeping`; what is counted is in `tally`.
"""

from auditor.collectors import Collector
from auditor.collectors.kube_audit.collecting import collect

COLLECTOR = Collector("audit", "Kubernetes audit logs, in the delivery formats of clouds and log shippers", collect)
