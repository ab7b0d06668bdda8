# ptxloom with what runs kernels. No GPU and no driver are needed:
#   docker build --tag ptxloom .
#   docker run --rm --volume "$PWD:/work" ptxloom check kernel.ptx
FROM python:3.13-slim AS build
WORKDIR /src
COPY . .
RUN python -m venv /opt/ptxloom && /opt/ptxloom/bin/pip install --no-cache-dir '.[run]'

FROM python:3.13-slim
COPY --from=build /opt/ptxloom /opt/ptxloom
RUN useradd --create-home ptxloom
USER ptxloom
WORKDIR /work
ENTRYPOINT ["/opt/ptxloom/bin/ptxloom"]
CMD ["--help"]
