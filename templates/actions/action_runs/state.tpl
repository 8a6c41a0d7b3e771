% if run["state"] == "success":
<strong class="result yes">✓ Succeeded</strong>
% elif run["state"] == "failed":
<strong class="result no">✗ Failed</strong>
% elif run["state"] == "suppressed":
<strong class="result">– Skipped</strong>
% else:
<strong class="result">… Running</strong>
% end
% if run["dry_run"]:
<span class="badge">dry run</span>
% end
