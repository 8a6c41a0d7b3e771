% if run["state"] == "success":
<strong class="tag gets">✓ Succeeded</strong>
% elif run["state"] == "failed":
<strong class="tag broken">✗ Failed</strong>
% elif run["state"] == "suppressed":
<strong class="tag">– Skipped</strong>
% else:
<strong class="tag">… Running</strong>
% end
% if run["dry_run"]:
<span class="tag">dry run</span>
% end
