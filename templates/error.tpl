% rebase("layout.tpl", title=title, live=False)
<h1>{{error.status}}: {{error.message}}</h1>
% for detail in error.details:
% if detail["message"] != error.message:
<p>{{detail["message"]}}</p>
% end
% end
% if error.status >= 500:
<p>Include this error ID when you report the problem: <code>{{error_id}}</code></p>
% end
<p><a href="{{url('/')}}">Back to home</a></p>
