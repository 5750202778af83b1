"""Resources of kernels as `ptxas -v` reports them."""

from raytracer.backends.cuda.ptxas import Usage, by_entry, usage

LOG = """ptxas info    : 0 bytes gmem, 1536 bytes cmem[3]
ptxas info    : Compiling entry function 'mass' for 'sm_90a'
ptxas info    : Function properties for mass
    4 bytes stack frame, 8 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 2048 bytes smem, 560 bytes cmem[0]
ptxas info    : Compiling entry function 'mass_2' for 'sm_90a'
ptxas info    : Function properties for mass_2
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 32 registers, used 0 barriers, 560 bytes cmem[0]
"""


def test_usage_of_each_entry() -> None:
    assert by_entry(LOG) == {"mass": Usage(40, 2048, 24), "mass_2": Usage(32, 0, 0)}


def test_usage_of_a_log() -> None:
    assert usage(LOG) == Usage(40, 2048, 24)
    assert usage("") == Usage(0, 0, 0)
    assert by_entry("") == {}
