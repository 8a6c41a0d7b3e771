% looks = {"success": ("yes", "✓ done"), "failed": ("no", "✗ failed"), "started": ("", "… running"), "suppressed": ("", "– suppressed")}
% look, words = looks[run["state"]]
<strong class="result {{look}}">{{words}}</strong>
% if run["dry_run"]:
<span class="badge">dry run</span>
% end
