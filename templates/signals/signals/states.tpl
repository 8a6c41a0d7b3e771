% include("signals/signals/words.tpl", status=summary.status, severity=summary.severity)
