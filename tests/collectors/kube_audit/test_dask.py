"""The scan of a large file on a Dask cluster, through its executor."""

from pathlib import Path

import pytest

from auditor.collectors.kube_audit import parallel
from auditor.config import ClusterConfig
from tests.collectors.kube_audit.reading import collected
from tests.collectors.kube_audit.test_incremental import whole
from tests.collectors.kube_audit.test_parallel import LINES, read


@pytest.mark.filterwarnings("ignore")
def test_a_local_cluster_of_two_processes_finds_what_one_process_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed", reason="the extra auditor[dask] is not installed")
    (tmp_path / "audit").write_bytes(b"".join(line + b"\n" for line in LINES * 20))
    one = collected(tmp_path, clusters=[ClusterConfig("prod", audit=("audit",))])
    monkeypatch.setattr(parallel, "PART", 400_000)
    monkeypatch.setattr(parallel, "_WORTHWHILE", 400_000)
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            local_directory=str(tmp_path / "w"),
        ) as cluster,
        distributed.Client(cluster) as client,
        client.get_executor() as executor,
    ):
        assert whole(read(tmp_path, executor)) == whole(one)
