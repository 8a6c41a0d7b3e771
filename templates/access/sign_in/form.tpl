% rebase("layout.tpl", title=title, live=False)
<div class="narrow">
<h1>Sign in</h1>
<p class="hint">Turn features on and off while they run. An alert can turn one off, and a release that goes wrong rolls itself back.</p>
% include("partials/problems.tpl")
% if warning:
<p class="problem" role="alert">{{warning}}</p>
% end
% if authentication.takes_email:
<p>Demo mode: enter any email to continue. Data here is not protected.</p>
% end
% if provider_name:
<p><a class="button" href="{{url('/auth/oidc')}}?next={{next_query}}">Sign in with {{provider_name}}</a></p>
% end
% if provider_name and has_form:
<p class="hint">or</p>
% elif has_break_glass_link:
<p class="hint"><a href="{{url('/sign-in')}}?method=password&amp;next={{next_query}}">Sign in with a password</a></p>
% end
% if has_form:
<form method="post" action="{{url('/sign-in')}}">
<input type="hidden" name="csrf" value="{{form_token}}">
<input type="hidden" name="next" value="{{next_path}}">
% include("partials/form_fields.tpl")
<button>Sign in</button>
</form>
% end
% if has_reset_link:
<p><a href="{{url('/forgot-password')}}">Forgot your password?</a></p>
% end
</div>
