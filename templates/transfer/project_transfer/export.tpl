% rebase("layout.tpl", title=title, live=False)
<h1>Export flags of <bdi>{{project["name"]}}</bdi></h1>
<p class="hint">A JSON file with the flags and their state in one environment, for the import of another project, environment or server.</p>
<form method="get" action="{{url('/admin/projects', project['id'], 'export')}}">
% include("partials/form_fields.tpl")
<button>Download</button>
</form>
