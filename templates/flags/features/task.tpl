<span hidden id="task-{{name}}">{{task}}</span>
<button type="button" class="quiet needs-script" data-copy="task-{{name}}">Copy task</button>
