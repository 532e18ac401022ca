//go:build !go1.23

package main

func pull() func(int) { return nil }
