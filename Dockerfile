# The service as an image: docker build -t sigservice .
# BASE needs glibc and Python 3.11 or later with venv. The wheel keeps the commit of the clone.
ARG BASE=docker.io/library/python:3.13-slim-bookworm

FROM ${BASE} AS build
WORKDIR /src
COPY requirements/runtime.txt requirements/
RUN python3 -m venv /opt/sigservice \
    && /opt/sigservice/bin/pip install --no-cache-dir --require-hashes -r requirements/runtime.txt
COPY . .
RUN /opt/sigservice/bin/pip install --no-cache-dir --no-deps . \
    && /opt/sigservice/bin/pip uninstall --yes pip setuptools \
    && python3 -m compileall -q -f --invalidation-mode unchecked-hash /opt/sigservice

FROM ${BASE}
# Python's image has no bytecode of the standard library, and the service can't write it there.
RUN python3 -m compileall -q -x "/(test|tests|idlelib|lib2to3)/" "$(python3 -c 'import os; print(os.path.dirname(os.__file__))')"
RUN useradd --uid 10001 --create-home --home-dir /var/lib/sigservice --shell /usr/sbin/nologin sigservice
COPY --from=build /opt/sigservice /opt/sigservice
ENV PATH=/opt/sigservice/bin:$PATH \
    HTTP_PORT=4242 \
    SERVICE_DATA_DIR=/var/lib/sigservice/data \
    PYTHONDONTWRITEBYTECODE=1
USER 10001
WORKDIR /var/lib/sigservice
VOLUME /var/lib/sigservice
EXPOSE 4242
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python3", "-c", "import http.client, os, sys; \
connection = http.client.HTTPConnection('127.0.0.1', int(os.environ['HTTP_PORT']), timeout=4); \
connection.request('GET', os.environ.get('BASE_URI_PATH', '') + '/health'); \
sys.exit(connection.getresponse().status != 200)"]
ENTRYPOINT ["sigservice"]
CMD ["run"]
