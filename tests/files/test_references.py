"""Files and addresses that a file names: parts in its folder are read, all else is refused."""

import json
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from raytracer import load
from raytracer.config.errors import DataFileError
from raytracer.files.access import open_file
from raytracer.files.references import require_no_reference, resolve_part
from support.particle_files import complaint, refusal, write

XML = """\
<VTKFile type="PolyData"><PolyData><Piece NumberOfPoints="2">
<Points><DataArray type="Float64" NumberOfComponents="3">1 2 3 4 5 6</DataArray></Points>
</Piece></PolyData></VTKFile>
"""
FIELDS = "".join(f'<FIELD name="{axis}" datatype="unsignedByte"/>' for axis in "xyz")


def vot(name: str) -> str:
    return f"""<?xml version="1.0"?><VOTABLE version="1.3"><RESOURCE><TABLE>{FIELDS}<DATA><BINARY>
<STREAM href="{name}"/></BINARY></DATA></TABLE></RESOURCE></VOTABLE>"""


def entity(name: str) -> str:
    return f"""<?xml version="1.0"?><!DOCTYPE VOTABLE [<!ENTITY more SYSTEM "{name}">]>
<VOTABLE version="1.3"><RESOURCE><TABLE>{FIELDS}<DATA><TABLEDATA><TR><TD>&more;</TD><TD>1</TD>
<TD>2</TD></TR></TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>"""


def listed(kind: str, entry: str = "DataSet", key: str = "file") -> Callable[[str], str]:
    return lambda name: (
        f'<VTKFile type="{kind}"><{kind}><{entry} {key}="{name}"/></{kind}></VTKFile>'
    )


def hidden(name: str) -> str:
    """A list whose kind is far from the start of the file, and behind a sign that ends a tag."""
    start = f'<!--{" " * 9000}--><VTKFile version=">" type="PPolyData">'
    return f'{start}<PPolyData><Piece Source="{name}"/></PPolyData></VTKFile>'


FORMATS: dict[str, Callable[[str], str]] = {
    "a.vot": vot,
    "b.vot": entity,
    "utf-16.vot": lambda name: vot(name),
    "prefix.vot": lambda name: vot(name).replace("STREAM", "v:STREAM").replace(
        "<VOTABLE", '<VOTABLE xmlns:v="http://www.ivoa.net/xml/VOTable/v1.3"'),
    "a.xml": lambda name: entity(name).replace("VOTABLE", "spots"),
    "a.cml": lambda name: entity(name).replace("VOTABLE", "cml"),
    "a.vtp": entity,
    "a.pvd": listed("Collection"),
    "a.pvtp": listed("PPolyData", "Piece", "Source"),
    "a.pvtu": listed("PUnstructuredGrid", "Piece", "Source"),
    "b.pvtp": hidden,
    "a.vtm": listed("vtkMultiBlockDataSet"),
    "a.vtpd": listed("vtkPartitionedDataSet"),
    "a.vtk.series": lambda name: json.dumps({"files": [{"name": name, "time": 0}]}),
}  # fmt: skip
"""Contents that name another file, by the name of theirs."""


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A socket on which nothing may arrive."""
    with socket.create_server(("127.0.0.1", 0)) as made:
        made.settimeout(0.05)
        yield made
        with pytest.raises(TimeoutError):
            made.accept()


def _names(folder: Path, listener: socket.socket) -> list[str]:
    """Places outside of a folder: addresses, absolute paths, others above, a link, a device."""
    secret = write(folder.parent / "secret.vtp", XML)
    (folder / "link.vtp").symlink_to(secret)
    (folder / "linked").symlink_to(folder.parent, target_is_directory=True)
    port = listener.getsockname()[1]
    return [f"http://127.0.0.1:{port}/secret.vtp", f"ftp://127.0.0.1:{port}/a", f"file://{secret}",
            f"file:{secret}", str(secret), "../secret.vtp", "x/../../secret.vtp", "link.vtp",
            "linked/secret.vtp", "/dev/zero", "//127.0.0.1/secret.vtp"]  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
def test_references_outside_are_refused(name: str, tmp_path: Path, listener: socket.socket) -> None:
    for package in ("vtkmodules", "astropy", "chemfiles"):
        pytest.importorskip(package)
    folder = tmp_path / "data"
    folder.mkdir()
    for place in _names(folder, listener):
        text = FORMATS[name](place)
        path = write(folder / name, text.encode("utf-16") if "UTF-16" in text else text)
        assert f"{name}: refers to '{place[:77]}" in complaint(path)


def test_a_refused_reference_in_the_command(
    tmp_path: Path, listener: socket.socket, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("astropy")
    address = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    assert f"refers to '{address}'" in refusal(write(tmp_path / "a.vot", vot(address)), capsys)


def test_parts_in_the_folder_are_read(tmp_path: Path) -> None:
    """Also below it, and where the list and its parts are links to files of one folder."""
    pytest.importorskip("vtkmodules")
    (tmp_path / "parts").mkdir()
    write(tmp_path / "parts" / "b.vtp", XML)
    list_of = listed("Collection")
    assert load(write(tmp_path / "a.pvd", list_of("parts/b.vtp"))).count == 2
    (farm := tmp_path / "farm").mkdir()
    write(tmp_path / "b.vtp", XML)
    for name in ("c.pvd", "b.vtp"):
        write(tmp_path / "c.pvd", list_of("b.vtp"))
        (farm / name).symlink_to(tmp_path / name)
    assert load(farm / "c.pvd").count == 2


def test_a_list_on_standard_input_has_no_folder(tmp_path: Path) -> None:
    with open_file(write(tmp_path / "a.pvd", "")) as file:
        assert resolve_part(file, "b.vtp") == tmp_path / "b.vtp"
        file.is_standard_input = True
        with pytest.raises(DataFileError, match=r"refers to 'b\.vtp', which is not read"):
            resolve_part(file, "b.vtp")


@pytest.mark.parametrize(
    "text",
    [
        vot("http://a.example/").replace("STREAM", "LINK"),  # documents of a column
        '<!DOCTYPE VOTABLE SYSTEM "http://us-vo.org/xml/VOTable.dtd"><VOTABLE/>',
        '<!DOCTYPE cml SYSTEM "cml.dtd" [<!ENTITY Aring "&#197;">]><cml/>',
        '<VOTABLE><!-- <STREAM href="http://a.example/"/> --></VOTABLE>',
    ],
)
def test_addresses_that_nothing_opens_are_permitted(text: str, tmp_path: Path) -> None:
    with open_file(write(tmp_path / "a.vot", text)) as file:
        require_no_reference(file)
        assert file.file.read() == text.encode()


@pytest.mark.parametrize("kind", ["link", "soft", "relative", "virtual", "growing", "external"])
def test_hdf5_opens_no_other_file(kind: str, tmp_path: Path) -> None:
    """The other file is a pipe: opening it would wait for ever."""
    h5py = pytest.importorskip("h5py")
    (folder := tmp_path / "data").mkdir()
    os.mkfifo(tmp_path / "pipe")
    other = "../pipe" if kind == "relative" else str(tmp_path / "pipe")
    path = folder / "a.h5"
    with h5py.File(path, "w", libver="latest") as file:
        place = "PartType0/Coordinates"
        if kind == "external":
            file.create_dataset(place, (4, 3), "f8", external=[(other, 0, 96)])
        elif kind in ("virtual", "growing"):
            most = (None, 3) if kind == "growing" else (4, 3)
            layout = h5py.VirtualLayout((4, 3), "f8", maxshape=most)
            source = h5py.VirtualSource(other, "p", (4, 3), "f8", maxshape=most)
            if kind == "growing":
                limit = h5py.h5s.UNLIMITED
                layout[0:limit, :] = source[0:limit, :]
            else:
                layout[:] = source
            file.create_virtual_dataset(place, layout)
        else:
            file["other"] = h5py.ExternalLink(other, "/p")
            file[place] = h5py.SoftLink("/other/Coordinates")
    said = complaint(path)
    assert "a.h5: " in said
    assert "other files, which are not read" in said


def test_a_link_of_hdf5_that_is_left_out_is_named(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["PartType0/Coordinates"] = np.eye(3)
        file["PartType1"] = h5py.ExternalLink("b.h5", "/PartType1")
    with pytest.warns(UserWarning, match=r"a\.h5: leaves out 'PartType1' in other files"):
        assert load(tmp_path / "a.h5").count == 3


@pytest.mark.parametrize(
    "tag", ["!!python/object/apply:os.system", "!include", "!!python/name:os.x"]
)
def test_tags_of_yaml_are_refused(tag: str, tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    path = write(tmp_path / "a.yaml", f"---\ntimestep: 0\ndata: {tag} ['touch {tmp_path}/made']\n")
    assert "a.yaml: cannot be read as LAMMPS dump in YAML" in complaint(path)
    assert not (tmp_path / "made").exists()


def test_materials_of_a_mesh_are_not_opened(tmp_path: Path, listener: socket.socket) -> None:
    pytest.importorskip("trimesh")
    os.mkfifo(tmp_path / "pipe.mtl")
    address = f"http://127.0.0.1:{listener.getsockname()[1]}/a.mtl"
    mesh = f"mtllib pipe.mtl\nmtllib {address}\nusemtl m\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
    write(tmp_path / "a.obj", mesh)
    scene = load(write(tmp_path / "a.toml", '[[meshes]]\nfile = "a.obj"\n'))
    assert len(scene.meshes[0].triangles) == 1


@pytest.mark.parametrize(("name", "start"), [("a.gltf", '{"buffers": [{"uri": "'), (
    "a.xdmf", '<Xdmf><DataItem Format="HDF">')])  # fmt: skip
def test_lists_of_other_programs_are_refused(name: str, start: str, tmp_path: Path) -> None:
    assert f"{name}: files ending in" in complaint(write(tmp_path / name, start))
