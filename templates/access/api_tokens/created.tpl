% rebase("layout.tpl", title=title, live=False)
<h1><bdi>{{title}}</bdi></h1>
<p class="notice">Copy it now. It is not shown again.</p>
% for field in copy_fields:
% include("partials/copy_field.tpl", field=field)
% end
% for number, (label, program) in enumerate(programs):
<details {{"" if number else "open"}}>
<summary>{{label}}</summary>
<div class="copy"><pre id="program-{{number}}" tabindex="0">{{program}}</pre>
<button type="button" class="quiet needs-script" data-copy="program-{{number}}" aria-label="Copy the program for {{label}}">Copy</button></div>
</details>
% end
<p><a href="{{url('/admin/applications')}}">Applications</a> shows its first request. · <a href="{{url('/admin/features/new')}}">Create a flag</a> · <a href="{{url('/docs/guide/sdk')}}">How to connect an SDK</a></p>
<p class="actions"><a class="button" href="{{url('/admin/api-tokens')}}">Done</a></p>
