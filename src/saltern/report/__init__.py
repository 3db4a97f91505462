"""Stop 11 of the walk: takes Events and the Report from the engine, gives one view per reader to the cli."""
