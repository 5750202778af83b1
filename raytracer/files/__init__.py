"""Files: opened with checks, read with sizes checked, written whole or not at all."""
