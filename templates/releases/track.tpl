<ol class="track">
% for step in steps:
<li {{"aria-current=step" if step["is_present"] else ""}}>
<svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true"><rect class="rest" width="100" height="6"></rect><rect width="{{step["part"]}}" height="6"></rect></svg>
<span class="percentage"><span aria-hidden="true">{{step["icon"]}}</span> {{step["rollout"]}}%<span class="hidden">, {{step["word"]}},</span></span>
<span class="muted">{{step["time"]}}</span>
</li>
% end
</ol>
