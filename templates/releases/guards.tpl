% rebase("layout.tpl", title=title, live=is_live)
<div id="release" data-live>
% include("releases/heading.tpl")
% if release["guard_rows"]:
% include("releases/guard_table.tpl", rows=release["guard_rows"], name="Guards of release " + str(release["id"]))
% else:
<p class="muted">No guards: it goes on when the time of a step is over.</p>
% end
% if release["guards_form"]:
<p class="actions"><a class="button quiet" href="{{url(release["guards_form"])}}">Edit guards</a></p>
% end
</div>
