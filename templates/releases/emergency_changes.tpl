% if not changes:
<p class="empty">No flag changes.</p>
% else:
<ul class="rows">
% for change in changes:
<li>
<a href="{{url(flag_path(change["feature"]))}}"><bdi>{{change["feature"]}}</bdi></a>
<bdi>{{change["environment"]}}</bdi>
<span>{{change["text"]}}</span>
<span class="muted">{{change["cause"]}}</span>
% if change["reason"]:
<span class="tag {{"waits" if change["changed"] else "off"}}"><span aria-hidden="true">{{"▲" if change["changed"] else "○"}}</span> <bdi>{{change["reason"]}}</bdi></span>
% end
</li>
% end
</ul>
% end
