module udpbench.example/languages

go 1.19

require golang.org/x/net v0.35.0

require golang.org/x/sys v0.30.0 // indirect
