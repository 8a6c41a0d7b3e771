% rebase("layout.tpl", title=title, live=False)
<div class="narrow">
<h1>Sign-in failed</h1>
<p class="problem" role="alert">{{texts.user}}</p>
<p class="actions">
<a class="button" href="{{url('/auth/oidc')}}?next={{next_query}}">Try again</a>
% if has_password_form:
<a href="{{url('/sign-in')}}?method=password&amp;next={{next_query}}">Sign in with a password</a>
% end
</p>
<p class="hint">For the operator: {{texts.operator}}</p>
<p class="hint">Error code: <a href="{{url('/docs/guide/single-sign-on')}}#{{code}}">{{code}}</a></p>
</div>
