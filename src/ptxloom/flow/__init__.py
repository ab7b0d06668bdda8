"""Where control goes inside a function: basic blocks, edges, dominators, loops (PTX ISA 9.7.12, 9.2)."""

from ptxloom.flow.graph import BasicBlock, Edge, EdgeKind, FlowGraph, Loop, flow_graph, flow_graphs

__all__ = ["BasicBlock", "Edge", "EdgeKind", "FlowGraph", "Loop", "flow_graph", "flow_graphs"]
