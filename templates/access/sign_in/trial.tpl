% rebase("layout.tpl", title=title, live=False)
<div class="narrow">
<h1>Trial sign-in</h1>
% login = trial.user["username"] or trial.user["email"]
<p class="notice" role="status"><span>Signed in as <bdi>{{login}}</bdi>. Nothing was saved.</span></p>
<dl>
<div><dt>Role</dt><dd>{{trial.user["role"]}}</dd></div>
<div><dt>Groups</dt><dd><bdi>{{", ".join(trial.groups) or "none"}}</bdi></dd></div>
</dl>
<p class="actions"><a href="{{url('/admin/sign-in')}}">Sign-in settings</a></p>
</div>
