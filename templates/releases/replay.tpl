<section id="replay">
% if replay:
<h2>What would have happened in the last 48 hours</h2>
<p>The shortest step for these guards is {{plural(replay["shortestStepMinutes"], "minute")}}.</p>
% for warning in replay["warnings"]:
<p class="hint">{{warning["message"]}}</p>
% end
% for guard_number, guard in enumerate(replay["guards"], 1):
<h3>Guard {{guard_number}}: {{"broken now" if guard["state"] == "firing" else "no data now" if guard["state"] == "unknown" else "ok now"}}</h3>
<p>
% if guard["reason"]:
<bdi>{{guard["reason"]}}</bdi>
% end
Broken at {{guard["broken_count"]}} of {{plural(len(guard["series"]), "point")}}.</p>
% end
% end
</section>
