"""What is drawn over a picture: legend, scale bar, axes, texts, box, outlines, depth cue."""
