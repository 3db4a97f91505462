"""Systems of a roster on the controller: reached over SSH, and otherwise like any other system."""
