% rebase("layout.tpl", title=title, live=False)
<h1>Import flags into <bdi>{{project["name"]}}</bdi></h1>
% include("partials/problems.tpl")
<form method="post" action="{{url('/admin/projects', project['id'], 'import')}}">
% include("partials/csrf.tpl")
% include("partials/form_fields.tpl")
<p class="field needs-script"><label for="file">Or choose a file</label>
<input type="file" id="file" accept="application/json,.json" data-read="data"></p>
% if entries is None or is_done:
<button name="do" value="preview">Show changes</button>
% else:
<section id="difference">
<h2>Changes</h2>
% if not entries:
<p class="empty">Nothing would change.</p>
% else:
<ul class="rows">
% for entry in entries:
<li><span class="tag">{{entry.kind}}</span> <strong><bdi>{{entry.name}}</bdi></strong> <bdi>{{entry.description}}</bdi></li>
% end
</ul>
% end
</section>
<p class="actions save">
% if entries:
<button name="do" value="import">Import {{plural(len(entries), "change")}}</button>
% end
<button class="quiet" name="do" value="preview">Show changes again</button>
</p>
% end
</form>
