% rebase("layout.tpl", title=title, live=is_live)
<div id="release" data-live>
% include("releases/heading.tpl")
<ul class="rows">
% for event in events:
<li>
% include("partials/time.tpl", at=parse_iso(event["createdAt"]))
<span aria-hidden="true">{{event["icon"]}}</span> <bdi>{{event["text"]}}</bdi> <span class="muted">by <bdi>{{event["actor"]}}</bdi></span></li>
% end
</ul>
</div>
