"""Writes perovskite.cif: the cubic cell of strontium titanate."""

from pathlib import Path

Path("perovskite.cif").write_text("""data_SrTiO3
_cell_length_a 3.905
_cell_length_b 3.905
_cell_length_c 3.905
_cell_angle_alpha 90
_cell_angle_beta 90
_cell_angle_gamma 90
_space_group_name_H-M_alt 'P m -3 m'
_space_group_IT_number 221
loop_
_atom_site_label
_atom_site_type_symbol
_atom_site_fract_x
_atom_site_fract_y
_atom_site_fract_z
Sr Sr 0 0 0
Ti Ti 0.5 0.5 0.5
O O 0.5 0.5 0
""")
