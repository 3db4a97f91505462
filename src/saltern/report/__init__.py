"""Stop 11 of the walk: takes Events and the Report from the engine, and gives one view for each reader to the
cli.
"""
