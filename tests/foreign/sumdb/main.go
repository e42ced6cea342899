// Judges a transparency log with Go's own packages: its signed checkpoint, its tiles, and its proofs.
//
//	go run tests/foreign/sumdb FOLDER
//
// FOLDER has the log as it is served (checkpoint, tile/…) and judge.json: the verifier key, leaf hashes, and the proofs that our
// library made.
package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type inclusion struct {
	Index int64
	Leaf  string
	Path  []string
}

type consistency struct {
	Old     int64
	OldRoot string
	Proof   []string
}

type judged struct {
	Key         string
	Inclusion   []inclusion
	Consistency []consistency
}

// Tiles as files, in the paths of C2SP tlog-tiles, which leave out the height.
type served struct{ folder string }

func (served) Height() int                       { return 8 }
func (served) SaveTiles([]tlog.Tile, [][]byte) {}

func (s served) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	var all [][]byte
	for _, tile := range tiles {
		path := strings.Replace(tile.Path(), "tile/8/", "tile/", 1)
		bytes, err := os.ReadFile(filepath.Join(s.folder, path))
		if err != nil {
			return nil, err
		}
		all = append(all, bytes)
	}
	return all, nil
}

func main() {
	folder := os.Args[1]
	var asked judged
	check(json.Unmarshal(read(folder, "judge.json"), &asked))
	verifier, err := note.NewVerifier(asked.Key)
	check(err)
	opened, err := note.Open(read(folder, "checkpoint"), note.VerifierList(verifier))
	check(err)
	tree := parse(opened.Text, verifier.Name())
	tiles := tlog.TileHashReader(tree, served{folder})

	for _, one := range asked.Inclusion {
		proof, leaf := tlog.RecordProof(hashes(one.Path)), hash(one.Leaf)
		check(tlog.CheckRecord(proof, tree.N, tree.Hash, one.Index, leaf))
		made, err := tlog.ProveRecord(tree.N, one.Index, tiles)
		check(err)
		same(made, proof)
		leaf[0] ^= 1
		refused(tlog.CheckRecord(proof, tree.N, tree.Hash, one.Index, leaf))
	}
	for _, one := range asked.Consistency {
		proof, root := tlog.TreeProof(hashes(one.Proof)), hash(one.OldRoot)
		check(tlog.CheckTree(proof, tree.N, tree.Hash, one.Old, root))
		made, err := tlog.ProveTree(tree.N, one.Old, tiles)
		check(err)
		same(made, proof)
		root[0] ^= 1
		refused(tlog.CheckTree(proof, tree.N, tree.Hash, one.Old, root))
	}
	root, err := tlog.TreeHash(tree.N, tiles)
	check(err)
	same(root, tree.Hash)
	fmt.Printf("ok %d %d %d\n", tree.N, len(asked.Inclusion), len(asked.Consistency))
}

// The three lines of a checkpoint.
func parse(text, origin string) tlog.Tree {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) != 3 || lines[0] != origin {
		fail(fmt.Errorf("no checkpoint of %s: %q", origin, text))
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	check(err)
	return tlog.Tree{N: size, Hash: hash(lines[2])}
}

func hash(text string) (out tlog.Hash) {
	bytes, err := base64.StdEncoding.DecodeString(text)
	check(err)
	if copy(out[:], bytes) != len(out) || len(bytes) != len(out) {
		fail(fmt.Errorf("no hash: %s", text))
	}
	return out
}

func hashes(texts []string) (out []tlog.Hash) {
	for _, text := range texts {
		out = append(out, hash(text))
	}
	return out
}

func read(folder, name string) []byte {
	bytes, err := os.ReadFile(filepath.Join(folder, name))
	check(err)
	return bytes
}

func same(a, b interface{}) {
	if fmt.Sprint(reflect.ValueOf(a)) != fmt.Sprint(reflect.ValueOf(b)) {
		fail(fmt.Errorf("%v is not %v", a, b))
	}
}

func refused(err error) {
	if err == nil {
		fail(fmt.Errorf("a changed hash was accepted"))
	}
}

func check(err error) {
	if err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
