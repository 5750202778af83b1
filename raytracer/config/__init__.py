"""How a setting is declared once: fields, their types and checks, errors and warnings."""
