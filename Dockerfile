# awo alone, static, as a user without rights:
#
#	docker build -t awo .
#	docker run --rm --network none -v "$PWD:/work:ro" awo inspect traces/
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o /awo .

FROM scratch
COPY LICENSE /LICENSE
COPY --from=build /awo /awo
USER 65532:65532
WORKDIR /work
ENTRYPOINT ["/awo"]
