% rebase("layout.tpl", title=title, live=False)
<div class="narrow">
<h1>{{title.removeprefix("Problem: ")}}</h1>
% include("partials/problems.tpl")
% if connection.row:
<p>Your sessions that {{connection.name}} opened end. Afterwards you sign in with your password only.</p>
<form method="post" action="{{url(path)}}">
% include("partials/csrf.tpl")
<input type="hidden" name="identity" value="{{connection.row['id']}}">
% if password:
% include("partials/form_field.tpl", field=password)
% end
<p class="actions"><button class="danger">Disconnect</button> <a href="{{url('/profile')}}">Cancel</a></p>
</form>
% else:
<p>Your account isn't connected.</p>
% end
</div>
