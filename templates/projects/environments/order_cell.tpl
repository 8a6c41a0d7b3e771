<form method="post" action="{{url('/admin/environments', row['name'], 'move')}}">
% include("partials/csrf.tpl")
% for step in row["moves"]:
<button class="quiet" name="to" value="{{step}}">{{step.capitalize()}}<span class="hidden">: move {{row["name"]}}</span></button>
% end
</form>
