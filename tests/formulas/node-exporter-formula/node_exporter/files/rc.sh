#!/bin/sh
exec node_exporter {{ flags }}
