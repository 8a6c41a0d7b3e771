% rebase("layout.tpl", title=title, live=False)
<div class="heading titled">
<h1>{{row["name"]}}</h1>
% if not row["archived_at"]:
<form class="star" method="post" action="{{url(path, 'favorite', 'remove') if feature['favorite'] else url(path, 'favorite')}}">
% include("partials/csrf.tpl")
<button class="quiet" aria-pressed="{{'true' if feature['favorite'] else 'false'}}" aria-label="Favorite">{{"★" if feature["favorite"] else "☆"}}</button>
</form>
% end
% if can_edit:
% if identity.has_permission("ADMIN"):
<a class="button quiet" href="{{url('/admin/automation/new')}}?flag={{row["name"]}}">Protect this flag</a>
% end
<details class="menu">
<summary aria-label="More for {{row["name"]}}" title="More"><span aria-hidden="true">⋯</span></summary>
<div><a href="?clone=on#clone">Clone</a>
<a href="{{url(path, 'archive')}}">Archive …</a></div>
</details>
% end
</div>
% include("partials/problems.tpl")
% if row["description"]:
<p class="text description">{{row["description"]}}</p>
% end
% if feature["managed"]:
% managed = feature["managed"]
<p class="text">Managed in {{managed["source"]}}\\
% if managed["revision"]:
 at {{managed["revision"][:12]}}\\
% end
: the next apply sets back what its files say.</p>
% end
% include("flags/features/details.tpl")
% if strip:
<nav class="strip" aria-label="Environments">
% for cell in strip:
<a href="?env={{cell["environment"]}}" {{"aria-current=page" if cell["environment"] == environment["name"] else ""}}>{{cell["environment"]}} <span class="tag {{cell["state"]}}">{{cell["text"]}}</span></a>
% end
</nav>
% end
% if environment:
% include("flags/features/environment.tpl", environment=environment)
% else:
<p class="empty">No active environments in this project.\\
% if can_edit:
 <a href="{{url('/admin/projects', row['project'], 'edit')}}">Project settings</a>\\
% end
</p>
% end
<section id="events">
<h2>History</h2>
<ul class="history">
% for event in events:
<li>
% include("partials/time.tpl", at=event["created_at"])
<span class="change">\\
% include("system/events/sentence.tpl", event=event)
</span>
% include("system/events/origin.tpl", event=event)
% if can_edit and event["undone_by"] == "run":
<a href="{{url('/admin/projects', environment['alert']['project'], 'actions', environment['alert']['action_set_id'], 'runs', environment['alert']['id'], 'undo')}}" data-dialog>Undo …</a>
% elif can_edit and event["undone_by"]:
<button class="quiet" form="switch" name="undone" value="yes">Undo …</button>
% end
</li>
% end
</ul>
<p><a href="{{url('/admin/events?feature=' + row['name'])}}">Audit log of this flag</a></p>
</section>
