# Two steps from a shell. What is no JSON object goes to the log.
echo "looking around"
printf '{"name": "%s", "result": true, "changes": {}, "comment": "%s"}\n' "the directory" "it is there"
printf '{"name": "%s", "result": %s, "changes": {}, "comment": "%s", "ran": %s}\n' \
    "the old shop" true "there was none to close" false
