<h1><bdi>{{endpoint["name"]}}</bdi>\\
% if not endpoint["enabled"]:
 <span class="badge">disabled</span>\\
% end
% include("signals/silence/badge.tpl", silence=endpoint["silence"])
</h1>
% include("partials/tabs.tpl", name="Signal endpoint")
