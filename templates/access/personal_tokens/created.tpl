% rebase("layout.tpl", title=title, live=False)
<h1>Token <bdi>{{token["description"]}}</bdi> created</h1>
<p class="notice">Copy this token now. You won't be able to see it again.</p>
% include("partials/copy_field.tpl", field=secret)
<p class="actions"><a class="button" href="{{url(back)}}">Done</a></p>
