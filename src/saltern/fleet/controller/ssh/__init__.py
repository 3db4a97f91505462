"""Systems of a roster on the controller: reached over SSH, and otherwise systems like any other."""
