% rebase("layout.tpl", title=title, live=True)
<h1>Releases</h1>
% include("releases/freeze.tpl", freeze=freeze)
<p class="hint">A release raises the percentage of a flag in steps, and rolls back when an alert fires or a number gets worse. Start one on the page of a flag, in the card of an environment.</p>
% for heading, rows in groups:
<section>
<h2>{{heading}}</h2>
% if not rows:
<p class="empty">No releases.</p>
% else:
<ul class="rows">
% for release in rows:
<li><span aria-hidden="true">{{release["icon"]}}</span> <a href="{{url(release['path'])}}">{{release["place"]}}</a> {{release["word"]}} at {{release["rollout"]}}%
% if release["heldReason"]:
<span class="muted"><bdi>{{release["heldReason"]}}</bdi></span>
% end
</li>
% end
</ul>
% end
</section>
% end
% include("actions/scheduled/list.tpl", scheduled=scheduled)
