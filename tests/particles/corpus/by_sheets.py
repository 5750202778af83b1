"""Tables that colleagues send: spreadsheets, exports of microscopes and scanners, logs."""

import gzip
import json
import zipfile
from pathlib import Path

import numpy as np

from particles.corpus.by_programs import COMMAS, PLACED, SIZED, SPACES, _comma, text_of
from particles.corpus.kinds import (
    IDS,
    POINTS,
    RADII,
    SPEEDS,
    SYMBOLS,
    Written,
    kind,
    kinds,
    texts,
)

COUNT = len(POINTS)
NUMBERS = np.arange(1, COUNT + 1)
UNNAMED = Written(POINTS, symbols=(), warning="the columns have no names")
ONES = np.ones(COUNT)
TURNED = POINTS[:, ::-1]

texts(
    ("spreadsheet, `sep=;`, decimal commas", "Körner Versuch 3.CSV",
     "sep=;\nNr.;X [mm];Y [mm];Z [mm];Durchmesser [mm]\n"
     + _comma(text_of(NUMBERS, POINTS, 2.0 * RADII, gap=";")), SIZED),
    ("spreadsheet, totals below", "sieve.csv",
     "Grain,x,y,z,radius,comment\n" + text_of(NUMBERS, POINTS, RADII, ["ok"] * COUNT, gap=",")
     + f"Total,,,,{RADII.sum():g},\nMean,,,,{RADII.mean():g},\n", SIZED),
    ("log with a summary below", "final.out",
     "Run finished\n\n  id   x   y   z   radius\n" + text_of(NUMBERS, POINTS, RADII, gap="   ")
     + f"\nTotal: {COUNT} particles\nMean radius = 0.5\nelapsed 3.2 s\n", SIZED),
    ("rows of NaN between others", "lost.csv", "id,x,y,z,radius\n" + "".join(
        f"{line}\n7,nan,nan,nan,nan\n" for line in text_of(NUMBERS, POINTS, RADII, gap=",")
        .splitlines()), SIZED),
    ("Origin, names, units, comments", "origin.dat",
     "X\tY\tZ\tRadius\nnm\tnm\tnm\tnm\nSample A\t\t\t\n" + text_of(POINTS, RADII, gap="\t"), SIZED),
    ("Igor Pro", "waves.itx", "IGOR\nWAVES/D x\ty\tz\tradius\nBEGIN\n"
     + text_of(POINTS, RADII, gap="\t") + "END\nX SetScale/P x 0,1,\"\", x\n", SIZED),
    ("R, write.csv with row names", "r.csv", '"","x","y","z","radius"\n' + "".join(
        f'"{place}",{line}\n' for place, line in enumerate(COMMAS.splitlines(), 1)), SIZED),
    ("Fortran, numbered rows without names", "fort.20", text_of(
        [str(each) for each in NUMBERS], POINTS, form="{:.16e}", gap="   ").replace("e", "D"),
     UNNAMED),
    ("numbered rows without names, commas", "numbered.csv", text_of(NUMBERS, POINTS, gap=","),
     UNNAMED),
    ("comments of semicolons", "ini.txt", f"; written by sim 2.1\n; x y z radius\n{SPACES}", SIZED),
    ("Grace", "positions.xvg", '# made\n@ title "positions"\n@ xaxis label "x"\n@TYPE xy\n'
     + SPACES, UNNAMED),
    ("numbered names in comments, one a line", "subhalos.txt",
     "# catalogue of run 7\n# 1: id\n# 2: x [kpc]\n# 3: y [kpc]\n# 4: z [kpc]\n# 5: radius [kpc]\n"
     + text_of(NUMBERS, POINTS, RADII), SIZED),
    ("SExtractor", "test.cat",
     "#   1 NUMBER      Running object number\n#   2 X_WORLD     x  [deg]\n"
     "#   3 Y_WORLD     y [deg]\n#   4 Z_WORLD    z [Mpc]\n#   5 FLUX_AUTO   flux [count]\n"
     + text_of(NUMBERS, POINTS, SPEEDS, gap="  "), PLACED),
    ("numbered names in one comment", "numbered.txt", f"# 1:x 2:y 3:z 4:radius\n{SPACES}", SIZED),
    ("numbered names with brackets", "brackets.txt", f"# [1]x [2]y [3]z [4]radius\n{SPACES}",
     SIZED),
    ("ARFF of Weka", "grains.arff", "@RELATION grains\n\n@ATTRIBUTE id NUMERIC\n"
     + "".join(f"@ATTRIBUTE {name} NUMERIC\n" for name in ("x", "y", "z", "radius"))
     + "\n@DATA\n" + text_of(NUMBERS, POINTS, RADII, gap=","), SIZED),
    ("RELION, particles of tomograms", "particles.star",
     "\n# version 30001\n\ndata_optics\n\nloop_ \n_rlnOpticsGroup #1 \n_rlnVoltage #2 \n"
     "           1   300.0 \n\n\ndata_particles\n\nloop_ \n_rlnTomoName #1 \n_rlnCoordinateX #2 \n"
     "_rlnCoordinateY #3 \n_rlnCoordinateZ #4 \n_rlnAngleRot #5 \n"
     + text_of(["TS_01"] * COUNT, POINTS, SPEEDS, gap="  ", end=" ") + "\n", PLACED),
    ("ImageJ, 3D objects counter", "Statistics for grains.csv",
     " ,Label,Volume (micron^3),Surface (micron^2),Mean,X,Y,Z,Mean dist. to surf. (micron),XM,YM,"
     "ZM,BX,BY,BZ,B-width,B-height,B-depth\n" + text_of(
         NUMBERS, [f"obj{each}" for each in NUMBERS], SPEEDS, SPEEDS, SPEEDS, POINTS, SPEEDS,
         POINTS + 1.0, POINTS - 1.0, ONES, ONES, ONES, gap=","), PLACED),
    ("MorphoLibJ, 3D analysis", "grains-morpho.tsv",
     "Label\tVolume\tSurfaceArea\tCentroid.X\tCentroid.Y\tCentroid.Z\tEuler\tBall.Center.X\t"
     "Ball.Center.Y\tBall.Center.Z\tBall.Radius\n" + text_of(
         NUMBERS, SPEEDS, SPEEDS, POINTS, ONES, POINTS + 0.1, RADII, gap="\t"), PLACED),
    ("CellProfiler", "Nuclei.csv",
     "ImageNumber,ObjectNumber,AreaShape_BoundingBoxMaximum_X,AreaShape_Center_X,"
     "AreaShape_Center_Y,AreaShape_Center_Z,AreaShape_EquivalentDiameter,Location_Center_X,"
     "Location_Center_Y,Location_Center_Z\n" + text_of(
         ONES, NUMBERS, SPEEDS, POINTS, 2.0 * RADII, POINTS, gap=","), SIZED),
    ("Avizo, label analysis", "Label-Analysis.csv",
     '"BaryCenterX","BaryCenterY","BaryCenterZ","EqDiameter","Volume3d","index"\n'
     + text_of(POINTS, 2.0 * RADII, SPEEDS, NUMBERS, gap=","), SIZED),
    ("Dragonfly, measurements", "dragonfly.csv",
     "Label,Center of Mass X (mm),Center of Mass Y (mm),Center of Mass Z (mm),"
     "Equivalent Spherical Diameter (mm)\n" + text_of(NUMBERS, POINTS, 2.0 * RADII, gap=","),
     SIZED),
    ("VGStudio, inclusions", "defects.csv",
     "VGSTUDIO MAX 3.4;;;;\nProject;Probe 7;;;\n\nDefect;Radius [mm];Center x [mm];Center y [mm];"
     "Center z [mm]\n" + text_of([f"Defect {n}" for n in NUMBERS], RADII, POINTS, gap=";"), SIZED),
    ("arivis", "arivis.csv", '"Id";"Center of Geometry (Geometry) X, µm (Center of Geometry)";'
     '"Center of Geometry (Geometry) Y, µm (Center of Geometry)";'
     '"Center of Geometry (Geometry) Z, µm (Center of Geometry)"\n'
     + text_of(NUMBERS, POINTS, gap=";"), PLACED),
    ("ilastik, objects", "ilastik_table.csv",
     "object_id,timestep,labelimage_oid,Center of the object_0,Center of the object_1,"
     "Center of the object_2,Size in pixels_0\n" + text_of(
         NUMBERS, 0 * NUMBERS, NUMBERS, POINTS, SPEEDS, gap=","), PLACED),
    ("napari, points", "points.csv", "index,axis-0,axis-1,axis-2\n"
     + text_of(NUMBERS - 1, TURNED, gap=","), PLACED),
    ("trackpy", "features.csv", ",z,y,x,mass,size_z,size_y,size_x,ecc,signal,raw_mass,frame\n"
     + text_of(NUMBERS - 1, TURNED, SPEEDS, ONES, ONES, ONES, ONES, SPEEDS, SPEEDS, 0 * NUMBERS,
               gap=","), PLACED),
    ("Zeiss Elyra", "elyra.txt",
     "Index\tFirst Frame\tNumber Frames\tPosition X [nm]\tPosition Y [nm]\tPosition Z [nm]\t"
     "Precision [nm]\n" + text_of(NUMBERS, NUMBERS, ONES, POINTS, SPEEDS, gap="\t")
     + "\n\x00VoxelSizeX : 0.1\nVoxelSizeY : 0.1\nResolutionX : 0.01\n", PLACED),
    ("Nikon NIS-Elements", "nis.txt",
     "Channel Name\tX\tY\tXc\tYc\tHeight\tWidth\tZ\tZc\n" + text_of(
        ["647"] * COUNT, POINTS[:, :2], POINTS[:, :2] + 1.0, SPEEDS, SPEEDS, POINTS[:, 2],
        POINTS[:, 2] + 1.0, gap="\t"), PLACED),
    ("VeloView", "velodyne.csv", '"intensity","laser_id","Points_m_XYZ:0","Points_m_XYZ:1",'
     '"Points_m_XYZ:2"\n' + text_of(IDS, IDS, POINTS, gap=","), PLACED),
    ("IVAS, atom probe", "tip.csv", "x (nm), y (nm), z (nm), m/z (Da)\n"
     + text_of(POINTS, SPEEDS, gap=", "), PLACED),
    ("MSMS, coordinates and radii", "protein.xyzr", SPACES, SIZED),
    ("Open3D, colours", "cloud.xyzrgb", text_of(POINTS, RADII / 2.0, RADII / 2.0, RADII / 2.0),
     PLACED),
    ("Open3D, normals", "cloud.xyzn", text_of(POINTS, ONES, 0.0 * ONES, 0.0 * ONES), PLACED),
    ("SWC, neuron", "cell.swc", "# made by tracer\n" + text_of(
        NUMBERS, ONES, POINTS, RADII, np.maximum(NUMBERS - 2, -1)), SIZED),
    ("Mathematica, list", "points.m", "{" + ",\n ".join(
        "{" + ", ".join(f"{each:.17g}" for each in row) + "}" for row in POINTS.tolist()) + "}\n",
     UNNAMED),
    ("Python, printed rows", "printed.log", "".join(
        f"({x!r}, {y!r}, {z!r})\n" for x, y, z in POINTS.tolist()), UNNAMED),
    ("NumPy, printed array", "array.txt", "[[" + "]\n [".join(
        " ".join(f"{each:.17g}" for each in row) for row in POINTS.tolist()) + "]]\n", UNNAMED),
    ("lines of CR alone", "mac.csv", f"x,y,z,radius\n{COMMAS}".replace("\n", "\r"), SIZED),
    ("Athena++, table of cells", "athena.tab",
     "# Athena++ data at time=1.0 cycle=7 variables=prim\n#  x1v   x2v   x3v   rho\n"
     + text_of(POINTS, SPEEDS, gap="  "), PLACED),
    ("Chrono, DEM", "DEMdemo_output_0001.csv", "X,Y,Z,r,absv\n" + text_of(
        POINTS, RADII, SPEEDS, gap=","), SIZED),
    ("names with underscores, semicolons", "bodies.txt",
     "name;pos_x;pos_y;pos_z;vel_x;vel_y;vel_z;rad\n" + text_of(
        (SYMBOLS * COUNT)[:COUNT], POINTS, np.zeros((COUNT, 3)), RADII, gap=";"), SIZED),
    ("COMSOL, particles at times", "ptraj.csv",
     "% Model,grains.mph\n% Description,Particle trajectories\n% Length unit,m\n"
     "Particle index,qx (m),qy (m),qz (m),Particle radius (m)\n"
     + text_of(NUMBERS, POINTS, RADII, gap=","), SIZED),
    ("Blender geometry nodes", "blender.csv", "Index,Position X,Position Y,Position Z,Radius\n"
     + text_of(NUMBERS, POINTS, RADII, gap=","), SIZED),
    ("Houdini, geometry spreadsheet", "houdini.csv", "Point,P[x],P[y],P[z],pscale\n"
     + text_of(NUMBERS, POINTS, RADII, gap=","), SIZED),
    ("names with points, semicolons", "coords.csv", "ID;Coords.x;Coords.y;Coords.z;Size\n"
     + text_of(NUMBERS, POINTS, 2.0 * RADII, gap=";"), PLACED),
    ("Ansys, nodes", "NLIST.lis", " LIST ALL SELECTED NODES.\n\n   NODE        X             Y"
     "             Z\n" + text_of(NUMBERS, POINTS, gap="   "), PLACED),
    ("Abaqus, nodes", "job.inp", "*HEADING\nspheres\n*NODE\n" + text_of(
        NUMBERS, POINTS, gap=", ") + "*END\n", UNNAMED),
    ("PFC, balls in a ruled table", "balls.txt",
     " ID      X          Y          Z          Radius\n ------  ---------- ---------- ----------"
     " ---------\n" + text_of(NUMBERS, POINTS, RADII, gap="   "), SIZED),
    ("halos by their centre of mass", "halos.csv", "HaloID,Mvir,X_com,Y_com,Z_com,Rvir\n"
     + text_of(NUMBERS, SPEEDS, POINTS, RADII, gap=","), PLACED),
    ("Abaqus, report of nodes", "report.csv",
     "Node Label,  COORD-COOR1,  COORD-COOR2,  COORD-COOR3\n"
     + text_of(NUMBERS, POINTS, gap=",  "), PLACED),
    ("Plotly, figure", "plotly.json", json.dumps({"data": [{
        "type": "scatter3d", "mode": "markers", "name": "grains",
        **dict(zip("xyz", POINTS.T.tolist(), strict=True))}], "layout": {"title": "a"}}), PLACED),
    ("list of points", "list.json", json.dumps(POINTS.tolist()), PLACED),
    ("frames of particles, the first", "frames.json", json.dumps({"dt": 0.1, "frames": [
        {"time": 0, "particles": [{"id": n, "x": x, "y": y, "z": z, "radius": r} for n, (x, y, z), r
                                  in zip(NUMBERS.tolist(), POINTS.tolist(), RADII.tolist(),
                                         strict=True)]}]}), SIZED),
    ("records in YAML", "grains.yaml", "particles:\n" + "".join(
        f"- position: [{x!r}, {y!r}, {z!r}]\n  radius: {r!r}\n" for (x, y, z), r in zip(
            POINTS.tolist(), RADII.tolist(), strict=True)), SIZED),
    needs={"grains.yaml": "yaml"},
)  # fmt: skip


def zipped(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data/grains.csv", f"x,y,z,radius\n{COMMAS}")
        archive.writestr("__MACOSX/data/._grains.csv", b"\0\5\x16\7")


IMARIS = "Position X\tPosition Y\tPosition Z\tUnit\tID\n" + text_of(
    POINTS, ["um"] * COUNT, NUMBERS, gap="\t")  # fmt: skip
WIDE = gzip.compress(f"x\ty\tz\tradius\n{text_of(POINTS, RADII, gap=chr(9))}".encode("utf-16"))

kinds(
    "by hand",
    ("Imaris, tabs, UTF-16", "imaris.tsv", "17 digits", PLACED,
     lambda path: path.write_text(IMARIS, encoding="utf-16")),
    ("table, commas, in a ZIP archive", "grains.zip", "17 digits", SIZED, zipped),
    ("table in UTF-16, gzip", "imaris.txt.gz", "17 digits", SIZED,
     lambda path: path.write_bytes(WIDE)),
)  # fmt: skip


@kind(
    "spreadsheet, the second of two sheets", "grains.xlsx", "openpyxl", "float64", "python_calamine"
)
def excel(path: Path) -> Written:
    import openpyxl

    book = openpyxl.Workbook()
    book.active.append(["Report of run 7"])
    sheet = book.create_sheet("Grains")
    for row in (
        ["Project", 17],
        [],
        ["No.", "X [mm]", "Y [mm]", "Z [mm]", "Radius [mm]", "Remark"],
    ):
        sheet.append(row)
    for number, (point, radius) in enumerate(zip(POINTS.tolist(), RADII.tolist(), strict=True), 1):
        sheet.append([number, *point, radius, 'odd,\n"quoted"' if number == 2 else None])
    sheet.append(["Sum", None, None, None, float(RADII.sum())])
    book.save(path)
    return Written(POINTS, 1e-14, (), warning="has 2 sheets; 'Grains' is read")
