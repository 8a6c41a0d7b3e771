<span class="state {{release["style"]}}"><span aria-hidden="true">{{release["icon"]}}</span> {{release["word"]}}</span>\\
